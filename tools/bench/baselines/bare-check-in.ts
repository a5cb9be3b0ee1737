// Baseline of the check-in benchmark: bare Node HTTP and one UPDATE, committed before the response.
import { createServer } from 'node:http';
import pg from 'pg';

const { BENCH_DATABASE_URL: url, BENCH_PORT: port } = process.env;
const pool = new pg.Pool({ connectionString: url, max: 10 });
const NO_MESSAGES = Buffer.from('du8:messagesb0;;', 'latin1');

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const id = Number(new URLSearchParams(Buffer.concat(chunks).toString('latin1')).get('insecure_id'));
    pool
      .query({ name: 'check-in', text: 'update check_in set at = now() where id = $1', values: [id] })
      .then(({ rowCount }) => {
        response.statusCode = rowCount === 1 ? 200 : 404;
        response.setHeader('content-type', 'application/octet-stream');
        response.end(NO_MESSAGES);
      })
      .catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.writeHead(500).end();
      });
  });
});
server.listen(Number(port), '127.0.0.1', () => process.send?.({ ready: true }));
process.on('disconnect', () => process.exit(0));
