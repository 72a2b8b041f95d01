import { expect, test } from 'vitest';
import { withPackages } from '../../src/command/optional-package.ts';

test('a missing package is named, with the command that installs it', async () => {
  const name: string = '@holdfast/store-none';
  const call = (): Promise<unknown> => import(name);
  await expect(withPackages('none:', [name, 'other'], call)).rejects.toThrow(
    'none: needs the package @holdfast/store-none. Run: npm install @holdfast/store-none other',
  );
});

test('other errors stay as they are', async () => {
  const error = new Error("Cannot find '@holdfast/store-none'");
  await expect(withPackages('none:', ['@holdfast/store-none'], () => Promise.reject(error))).rejects.toBe(
    error,
  );
});
