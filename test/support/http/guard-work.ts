import type { RequestListener } from 'node:http';

const ROUNDS = 20;
const ROWS = 4000;

/** CPU time, in milliseconds, that this machine takes for a fixed piece of work of the kind servers do. */
export function calibrate(): number {
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, title: `computer-${id}`, tags: ['web', `r${id % 7}`] }));
  const before = process.cpuUsage();
  let length = 0;
  for (let i = 0; i < ROUNDS; i++) length += JSON.stringify(JSON.parse(JSON.stringify(rows))).length;
  const { user, system } = process.cpuUsage(before);
  if (length === 0) throw new Error('nothing was done');
  return (user + system) / 1000;
}

const held: Buffer[] = [];

/** Handlers as bad as the guard must notice, in front of an application: `/planted/quadratic` and `/planted/memory`. */
export function plant(app: RequestListener): RequestListener {
  return (req, res) => {
    if (req.url === '/planted/quadratic') res.end(String(quadratic(30_000)));
    else if (req.url === '/planted/memory') {
      held.push(Buffer.alloc(100 * 1024 * 1024, 1));
      res.end();
    } else app(req, res);
  };
}

/** Looks for each item among all before it. */
function quadratic(size: number): number {
  const seen: number[] = [];
  for (let i = 0; i < size; i++) if (!seen.includes(i)) seen.push(i);
  return seen.length;
}
