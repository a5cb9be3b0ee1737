import { linkHost, loadConfig } from './config.ts';

/**
 * `node src/process/health-check.ts [--ready]`: asks the process of the same settings on this machine whether it lives, or with
 * `--ready` whether it can do its work; for the health check of a container. Exit code 0 or 1, with the reason.
 */
const LIMIT_MS = 4_000;
const path = process.argv.includes('--ready') ? '/readyz' : '/healthz';
try {
  const { metricsHost, metricsPort } = loadConfig(process.env, 'stack');
  const url = `http://${linkHost(metricsHost)}:${metricsPort}${path}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
  process.stdout.write(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  const { message, cause } = error as Error;
  process.stdout.write(`${cause instanceof Error ? cause.message : message}\n`);
  process.exitCode = 1;
}
