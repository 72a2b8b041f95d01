export { AppProcess } from './app-process.ts';
export { complaintsOf, launchBrowser } from './browser.ts';
export { ChatPage } from './chat-page.ts';
export { temporaryFolder } from './temporary-folder.ts';
export { sourceLines } from './source-lines.ts';
export { isWithoutChromium, useBrowser } from './use-browser.ts';
export type { OpenPage } from './use-browser.ts';
