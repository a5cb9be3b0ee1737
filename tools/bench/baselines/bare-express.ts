// Baseline of the auth benchmark: a minimal Express server that returns given bodies as JSON text.
import express from 'express';

const body = JSON.parse(process.env.BENCH_BODY ?? '{}') as unknown;
const open = JSON.parse(process.env.BENCH_OPEN_BODY ?? '{}') as unknown;
const app = express();
app.get('/bare', (_request, response) => {
  response.json(body);
});
app.get('/open', (_request, response) => {
  response.json(open);
});
const server = app.listen(Number(process.env.BENCH_PORT), '127.0.0.1', () => process.send?.({ ready: true }));
process.on('disconnect', () => server.close(() => process.exit(0)));
