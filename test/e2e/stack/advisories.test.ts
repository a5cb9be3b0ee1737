import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';

interface AuditReport {
  message?: string;
  vulnerabilities?: Record<string, { severity: string }>;
}

const AUDIT = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=15000'];

it('DEP-advisory: what the product runs with has no known weakness', async ({ skip }) => {
  const output = await new Promise<string>((resolve) => {
    // It exits with 1 when it found something, or when the registry has no such service.
    execFile('npm', AUDIT, { timeout: 30_000, maxBuffer: 32 << 20 }, (_error, stdout) => resolve(stdout));
  });
  const { vulnerabilities, message } = JSON.parse(output || '{}') as AuditReport;
  if (!vulnerabilities) return skip(`the registry has no advisories: ${message ?? 'no response'}`);
  const severe = Object.entries(vulnerabilities).filter(([, { severity }]) => ['high', 'critical'].includes(severity));
  expect(severe).toEqual([]);
});
