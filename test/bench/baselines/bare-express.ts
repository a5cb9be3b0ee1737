// The least Express server: answers the body it is given as JSON text. Baseline of the auth benchmark.
import express from 'express';

const body = JSON.parse(process.env.BENCH_BODY ?? '{}') as unknown;
const app = express();
app.get('/bare', (_request, response) => {
  response.json(body);
});
const server = app.listen(Number(process.env.BENCH_PORT), '127.0.0.1', () => process.send?.({ ready: true }));
process.on('disconnect', () => server.close(() => process.exit(0)));
