import type { Transporter } from 'nodemailer';
import { DomainError, serviceBusy } from '../../domain/common/errors.ts';
import type { Logger } from '../../process/logger.ts';
import { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import type { Mail, Mailer } from '../common/ports.ts';

interface MailerOptions {
  smtpUrl: string | null;
  from: string;
  logger?: Logger;
}

/** Per mail, including the time in the queue. */
const TIMEOUT_MS = 5000;
const LIMITS = { concurrency: 4, concurrencyPerKey: 4, maxQueued: 32, maxQueuedPerKey: 32 };

/** A hanging server costs few connections and one timeout. `send` throws MailQueueUnavailable; the reason is logged. */
export function createMailer(options: MailerOptions): Mailer {
  const limiter = new ConcurrencyLimiter(LIMITS, () => serviceBusy('Too much mail at once'));
  return {
    isOn: options.smtpUrl !== null,
    async send(mail) {
      if (options.smtpUrl === null) throw unavailable();
      const deadlineMs = performance.now() + TIMEOUT_MS;
      try {
        await limiter.run('', () => deliver({ ...options, smtpUrl: options.smtpUrl! }, mail, deadlineMs));
      } catch (error) {
        // The server's text may contain the address, so only codes are logged.
        const { code, responseCode } = error as { code?: string; responseCode?: number };
        options.logger?.warn({ reason: code, responseCode }, 'a mail could not be queued');
        throw unavailable();
      }
    },
  };
}

async function deliver({ smtpUrl, from }: { smtpUrl: string; from: string }, mail: Mail, deadlineMs: number) {
  const remainingMs = Math.floor(deadlineMs - performance.now());
  if (remainingMs <= 0) throw timeoutError();
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: remainingMs,
    greetingTimeout: remainingMs,
    socketTimeout: remainingMs,
    dnsTimeout: remainingMs,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // An object is always one address, whatever the text contains.
  const to = { name: '', address: mail.to };
  await withTimeout(remainingMs, transport, transport.sendMail({ from, to, subject: mail.subject, text: mail.text }));
}

/** The transport's timeouts restart with every reply of the server; this one covers the whole delivery. */
async function withTimeout(timeoutMs: number, transport: Transporter, sent: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), timeoutMs);
  });
  try {
    await Promise.race([sent, timeout]);
  } finally {
    clearTimeout(timer);
    sent.catch(() => undefined);
    transport.close();
  }
}

function timeoutError(): Error {
  return Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' });
}

function unavailable(): DomainError {
  return new DomainError('MailQueueUnavailable', 'The mail could not be queued');
}
