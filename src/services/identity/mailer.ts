import type { Transporter } from 'nodemailer';
import { DomainError } from '../../domain/common/errors.ts';
import type { Logger } from '../../process/logger.ts';
import { BoundedQueue } from '../common/bounded-queue.ts';
import { crowded } from '../common/crowd.ts';
import type { Mail, Mailer } from '../common/ports.ts';

export interface MailerOptions {
  /** `smtp://user:password@host:port` or `smtps://...`; null: no mail goes out. */
  smtpUrl: string | null;
  /** Address of the sender. */
  from: string;
  logger?: Logger;
  /** Longest time one mail may take, waiting included. */
  limitMs?: number;
}

const LIMIT_MS = 5000;
const CONCURRENCY = 4;
const MAX_WAITING = 32;

/**
 * Hands mail to an SMTP server. A server that hangs costs a bounded number of connections and one time limit.
 *
 * @remarks `send` throws MailQueueUnavailable when the server did not take the mail, whatever the reason; the log has it.
 */
export function createMailer(options: MailerOptions): Mailer {
  const queue = new BoundedQueue({
    concurrency: CONCURRENCY,
    maxWaiting: MAX_WAITING,
    refusal: () => crowded('Too much mail at once'),
  });
  return {
    isOn: options.smtpUrl !== null,
    async send(mail) {
      if (options.smtpUrl === null) throw unavailable();
      const deadlineMs = performance.now() + (options.limitMs ?? LIMIT_MS);
      try {
        await queue.run(() => deliver({ ...options, smtpUrl: options.smtpUrl! }, mail, deadlineMs));
      } catch (error) {
        // The server's own words may repeat the address; codes say enough.
        const { code, responseCode } = error as { code?: string; responseCode?: number };
        options.logger?.warn({ reason: code, responseCode }, 'a mail could not be queued');
        throw unavailable();
      }
    },
  };
}

async function deliver(
  { smtpUrl, from }: { smtpUrl: string; from: string },
  mail: Mail,
  deadlineMs: number,
): Promise<void> {
  const leftMs = Math.floor(deadlineMs - performance.now());
  if (leftMs <= 0) throw tooLate();
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: leftMs,
    greetingTimeout: leftMs,
    socketTimeout: leftMs,
    dnsTimeout: leftMs,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // As an object the address is one address, whatever its text looks like.
  const to = { name: '', address: mail.to };
  await within(leftMs, transport, transport.sendMail({ from, to, subject: mail.subject, text: mail.text }));
}

/** The transport's own limits start again at every answer of the server; this one is for all of it. */
async function within(limitMs: number, transport: Transporter, sent: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate()), limitMs);
  });
  try {
    await Promise.race([sent, late]);
  } finally {
    clearTimeout(timer);
    sent.catch(() => undefined);
    transport.close();
  }
}

function tooLate(): Error {
  return Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' });
}

function unavailable(): DomainError {
  return new DomainError('MailQueueUnavailable', 'The mail could not be queued');
}
