import { buildWebPage } from './build-page.ts';

// Vite keeps what it finds, and would build for development.
process.env['NODE_ENV'] = 'production';

/** `npm run build:web`: compiles the web page ahead of time. It needs nothing but the packages of the page. */
process.stdout.write(`The web page is up to date: ${await buildWebPage()}\n`);
