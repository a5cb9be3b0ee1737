// Baseline of the auth benchmark: a minimal Express server that returns given bodies as JSON text.
import express from 'express';

const { BENCH_BODY = '{}', BENCH_OPEN_BODY = '{}', BENCH_PORT } = process.env;
const body = JSON.parse(BENCH_BODY) as unknown;
const open = JSON.parse(BENCH_OPEN_BODY) as unknown;
const app = express();
app.get('/bare', (_request, response) => {
  response.json(body);
});
app.get('/open', (_request, response) => {
  response.json(open);
});
const server = app.listen(Number(BENCH_PORT), '127.0.0.1', () => process.send?.({ ready: true }));
process.on('disconnect', () => server.close(() => process.exit(0)));
