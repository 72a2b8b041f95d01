export { AppProcess } from './app-process.ts';
export { browserOfBlock, isWithoutChromium } from './browser-of-block.ts';
export { complaintsOf } from './browser.ts';
export { ChatPage } from './chat-page.ts';
export { temporaryFolder } from './temporary-folder.ts';
export { sourceLines } from './source-lines.ts';
export { useBrowser } from './use-browser.ts';
export type { OpenPage } from './use-browser.ts';
