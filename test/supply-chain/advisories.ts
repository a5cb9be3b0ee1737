import { execFile } from 'node:child_process';

/** A known weakness of a package that the product runs with. */
export interface Advisory {
  package: string;
  severity: string;
  title: string;
}

export type AdvisoryReport = { state: 'answered'; advisories: Advisory[] } | { state: 'unavailable'; reason: string };

const LIMIT_MS = 30_000;
/** Severities that fail the build; the others are printed. */
export const FAILING = ['high', 'critical'];

interface AuditAnswer {
  message?: string;
  vulnerabilities?: Record<string, { severity: string; via: Array<string | { title: string; severity: string }> }>;
}

/**
 * Asks the configured registry for advisories about what the product runs with. A registry that is away, or has no
 * such service, is no finding: the report says why there is none.
 */
export async function fetchAdvisories(): Promise<AdvisoryReport> {
  const { output, failure } = await npmAudit();
  return readAudit(output, failure);
}

/** Reads what `npm audit --json` printed. */
export function readAudit(output: string, failure: string | null): AdvisoryReport {
  let answer: AuditAnswer;
  try {
    answer = JSON.parse(output) as AuditAnswer;
  } catch {
    return { state: 'unavailable', reason: failure ?? 'npm audit printed no JSON' };
  }
  if (!answer.vulnerabilities) {
    // The registry's address is of no use to a reader, and of this machine.
    const reason = (answer.message ?? failure ?? 'no list of vulnerabilities').replace(/https?:\/\/\S+/g, 'registry');
    return { state: 'unavailable', reason };
  }
  const advisories = Object.entries(answer.vulnerabilities).flatMap(([name, { via }]) =>
    via.filter((cause) => typeof cause === 'object').map(({ title, severity }) => ({ package: name, severity, title })),
  );
  return { state: 'answered', advisories };
}

function npmAudit(): Promise<{ output: string; failure: string | null }> {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=15000'];
  return new Promise((resolve) => {
    // It ends with 1 when it found something.
    execFile('npm', args, { timeout: LIMIT_MS, maxBuffer: 32 << 20 }, (error, stdout) =>
      resolve({ output: stdout, failure: error ? error.message.split('\n')[0]! : null }),
    );
  });
}
