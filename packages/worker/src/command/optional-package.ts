import { InputError } from './input-error.ts';

/**
 * Calls a function that imports packages which only some users of the command need.
 * @param packages all that must be installed
 * @throws InputError when one of them is not installed; what the function throws
 */
export async function withPackages<T>(
  purpose: string,
  packages: readonly string[],
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const missing = packages.find((name) => isMissing(error, name));
    if (missing === undefined) throw error;
    throw new InputError(`${purpose} needs the package ${missing}. Run: npm install ${packages.join(' ')}`);
  }
}

/** True when the package itself is not installed, and not a module that it imports. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
}
