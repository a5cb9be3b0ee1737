import type { Mail } from '../common/ports.ts';

/** The mail that lets the owner of an address confirm it. Names are left out: whoever wants the address chose theirs. */
export function confirmationMail(to: string, { token, publicUrl }: { token: string; publicUrl: string }): Mail {
  return {
    to,
    subject: 'Confirm your email address for Flotilla',
    text: [
      `This address is to become that of a person at ${publicUrl}.`,
      '',
      `Token: ${token}`,
      '',
      'To confirm it, log in there and send the token as "token" to',
      `POST ${publicUrl}/api/v2/person:confirm-email`,
      'It can be used once, within 24 hours.',
      'If you do not expect this mail, do nothing.',
      '',
    ].join('\n'),
  };
}

/** The mail that tells an address that it has been replaced. */
export function replacedMail(to: string, { publicUrl }: { publicUrl: string }): Mail {
  return {
    to,
    subject: 'Your email address for Flotilla has changed',
    text: [
      `Until now this was the email address of a person at ${publicUrl}.`,
      'From now on they have another one.',
      'If that was not you, ask an administrator at once.',
      '',
    ].join('\n'),
  };
}
