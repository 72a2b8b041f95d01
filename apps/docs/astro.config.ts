import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';
import { focusableCode } from './src/focusable-code.ts';
import { holdfastDocs } from './src/plugin.ts';
import { github } from './src/repository.ts';

export default defineConfig({
  trailingSlash: 'always',
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Holdfast',
      social: [{ icon: 'github', label: 'GitHub', href: github }],
      // Long lines wrap, so that a phone hides no code. Drawings in text would break.
      expressiveCode: {
        defaultProps: { wrap: true, overridesByLang: { text: { wrap: false } } },
        plugins: [focusableCode],
      },
      customCss: ['./src/browser/site.css'],
      plugins: [holdfastDocs()],
    }),
  ],
});
