import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server that `npm run -w web dev` sends the requests of the page to. */
const api = process.env['FLOTILLA_API'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: '../build/web/dev',
    emptyOutDir: true,
    // Every browser of the last two years has what the page uses.
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The polyfill is an inline script, which the content security policy forbids.
    modulePreload: { polyfill: false },
    // Inlined files are data: URLs, which the policy allows for images only.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': { target: api }, '/docs': { target: api }, '/openapi.json': { target: api } } },
});
