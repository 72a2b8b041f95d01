import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { projects: ['packages/*', 'apps/*', 'lab/*', 'tools/*', '!tools/config', 'apps/examples/chat-*'] },
});
