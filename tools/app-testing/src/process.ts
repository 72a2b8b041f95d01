// The part of the package that loads no browser.
export { AppProcess } from './app-process.ts';
export { temporaryFolder } from './temporary-folder.ts';
