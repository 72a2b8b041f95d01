/** Checks of arguments for pages. They do not use those of core, which would make the bundle of a page several times as large. */

const HAS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  'a string': (value) => typeof value === 'string',
  'a function': (value) => typeof value === 'function',
  'headers, or a function that returns them': (value) =>
    typeof value === 'object' || typeof value === 'function',
  '"omit", "same-origin" or "include"': (value) =>
    value === 'omit' || value === 'same-origin' || value === 'include',
};

/**
 * Checks options by what each one must be. @throws TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function checkPageOptions<Options extends object>(
  name: string,
  options: Options,
  expected: Readonly<Record<keyof Options & string, string>>,
): Options {
  for (const [option, value] of Object.entries(options)) {
    const type: string | undefined = expected[option as keyof Options & string];
    if (type === undefined)
      throw invalid(`${name} has no option "${option}". Its options: ${Object.keys(expected).join(', ')}.`);
    if (value !== undefined && !HAS_TYPE[type]?.(value))
      throw invalid(`The option "${option}" of ${name} must be ${type}.`);
  }
  return options;
}

/** Returns the error for an invalid argument. */
export function invalid(message: string): TypeError {
  return Object.assign(new TypeError(message), { code: 'ARGUMENT_INVALID' });
}
