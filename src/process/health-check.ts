import { linkHost, loadConfig } from './config.ts';

/** `node src/process/health-check.ts [--ready]` calls `/healthz` or `/readyz` on this machine; exits with 0 or 1. */
const TIMEOUT_MS = 4_000;
const path = process.argv.includes('--ready') ? '/readyz' : '/healthz';
try {
  const { metricsHost, metricsPort } = loadConfig(process.env, 'stack');
  const url = `http://${linkHost(metricsHost)}:${metricsPort}${path}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.stdout.write(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  const { message, cause } = error as Error;
  process.stdout.write(`${cause instanceof Error ? cause.message : message}\n`);
  process.exitCode = 1;
}
