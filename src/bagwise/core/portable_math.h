// Elementary functions made of exactly rounded operations only, so that their bits are the same everywhere.
//
// libm differs between machines in the last bits; generated data must not. For everything else use <cmath>.
#pragma once

namespace bagwise {

// Natural logarithm, for x > 0 and finite; error below 1 ulp.
double portable_log(double x);

// e^x for any finite x; 0 where it underflows past the smallest denormal, infinity where it overflows;
// error below 1 ulp where the result is a normal number.
double portable_exp(double x);

// Cosine and sine of an angle in [0, 90] degrees; absolute error below 3e-16.
struct CosineSine {
  double cosine, sine;
};
CosineSine portable_cosine_sine(double degrees);

// The angle in degrees, in [0, 180], between two directions a and b of equal length, from |a - b| and |a + b|
// (its half has their ratio as tangent): accurate to 1e-13 also where the angle is tiny or nearly 180.
double portable_angle_degrees(double length_of_difference, double length_of_sum);

}  // namespace bagwise
