/** True for the long form of the tests, which `pnpm soak:providers` runs. */
export const IS_LONG = Number(process.env['EFFORT'] ?? 1) > 1;
