import type { NextConfig } from 'next';

const config: NextConfig = {
  redirects: async () => [{ source: '/', destination: '/first', permanent: false }],
  typescript: { ignoreBuildErrors: true }, // `pnpm typecheck` checks the types
};

export default config;
