import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';
import { holdfastDocs } from './src/plugin.ts';
import { github } from './src/repository.ts';

export default defineConfig({
  trailingSlash: 'always',
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Holdfast',
      social: [{ icon: 'github', label: 'GitHub', href: github }],
      // Long lines wrap: nothing is hidden on a phone, and no block needs the keyboard to scroll.
      expressiveCode: { defaultProps: { wrap: true } },
      customCss: ['./src/browser/site.css'],
      plugins: [holdfastDocs()],
    }),
  ],
});
