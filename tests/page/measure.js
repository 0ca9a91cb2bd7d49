// Looks at every frame once it has loaded and leaves what it saw in the page, as JSON, for page_test.py to judge.
'use strict';

function channels(colour) {
  return colour.match(/[\d.]+/g).map(Number);
}

function luminance([r, g, b]) {
  const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

// WCAG's ratio, 1 to 21.
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function hasOwnText(element) {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
}

// The colour behind an element: of the nearest one that has any; of a chart that of its paper.
function background(element, view) {
  const chart = element.closest('svg');
  if (chart) return channels(view.getComputedStyle(chart.querySelector('.bw-paper')).fill);
  for (let up = element; up; up = up.parentElement) {
    const colour = channels(view.getComputedStyle(up).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
}

function leastContrast(page, view) {
  let least = {ratio: 21, of: ''};
  for (const element of page.body.querySelectorAll('*')) {
    if (!hasOwnText(element) || ['STYLE', 'style', 'title', 'desc'].includes(element.tagName)) continue;
    const style = view.getComputedStyle(element);
    const colour = channels(element.tagName === 'text' ? style.fill : style.color);
    const ratio = contrast(colour, background(element, view));
    if (ratio < least.ratio) least = {ratio, of: element.textContent.slice(0, 60)};
  }
  return least;
}

// Texts that stick out of their chart.
function cutTexts(page) {
  const out = [];
  for (const chart of page.querySelectorAll('svg')) {
    const box = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll('text')) {
      const at = text.getBoundingClientRect();
      const inside = at.left >= box.left - 1 && at.right <= box.right + 1 && at.top >= box.top - 1 &&
          at.bottom <= box.bottom + 1;
      if (!inside) out.push(text.textContent.slice(0, 60));
    }
  }
  return out;
}

// Texts of a chart that lie over each other.
function crowdedTexts(page) {
  const out = [];
  for (const chart of page.querySelectorAll('svg')) {
    const texts = [...chart.querySelectorAll('text')].filter((text) => text.textContent !== '');
    const boxes = texts.map((text) => text.getBoundingClientRect());
    for (let i = 0; i < texts.length; ++i) {
      for (let j = 0; j < i; ++j) {
        const across = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
        const down = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
        if (across > 1 && down > 4) out.push(`${texts[j].lastChild.data} / ${texts[i].lastChild.data}`);
      }
    }
  }
  return out;
}

function look(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const count = (what) => page.querySelectorAll(what).length;
  const boxes = [...page.querySelectorAll('figure svg')].map((svg) => svg.getBoundingClientRect());
  return {
    page: frame.dataset.page,
    width: view.innerWidth,
    scheme: frame.dataset.scheme,
    dark: view.matchMedia('(prefers-color-scheme: dark)').matches,
    title: page.title,
    policy: page.querySelector('meta[http-equiv="Content-Security-Policy"]')?.content,
    overflow: page.documentElement.scrollWidth - view.innerWidth,
    headings: [...page.querySelectorAll('h1,h2,h3')].map((h) => Number(h.tagName[1])),
    sections: [...page.querySelectorAll('h2')].map((h) => h.textContent),
    links: [...page.querySelectorAll('a')].map((a) => a.getAttribute('href').slice(0, 20)),
    dangling: [...page.querySelectorAll('a[href^="#"]')].filter((a) => !page.querySelector(a.getAttribute('href'))).length,
    figures: count('figure'),
    downloads: count('a[download]'),
    titled: [...page.querySelectorAll('svg')].every((svg) => svg.getAttribute('role') === 'img' &&
        svg.querySelector(':scope > title').textContent !== '' && svg.querySelector(':scope > desc').textContent !== ''),
    empty: boxes.filter((box) => box.width < 50 || box.height < 50).length,
    marks: count('svg path, svg rect, svg circle'),
    foreign: count('script, img, iframe, object, embed, link, base, form, [onerror], [onload], [onclick]'),
    requests: view.performance.getEntriesByType('resource').map((entry) => entry.name),
    contrast: leastContrast(page, view),
    cut: cutTexts(page),
    crowded: crowdedTexts(page),
    text: page.documentElement.textContent,
  };
}

window.addEventListener('load', () => {
  const seen = [...document.querySelectorAll('iframe')].map(look);
  document.body.textContent = JSON.stringify(seen);
  document.documentElement.dataset.canary = String(window.canary ?? 0);
  document.body.id = 'seen';
});
