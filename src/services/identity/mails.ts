import type { Mail } from '../common/ports.ts';
import type { InvitationRow } from '../../persistence/identity/invitations.repository.ts';

/** The server that a mail comes from. */
export interface MailOrigin {
  publicUrl: string;
  /** Whether it serves the web page, which mails then lead to. */
  webPage: boolean;
}

/** Lets the owner of an address confirm it. Contains no name, because an attacker could choose it. */
export function confirmationMail(to: string, token: string, { publicUrl, webPage }: MailOrigin): Mail {
  return {
    to,
    subject: 'Confirm your email address for Flotilla',
    text: [
      `This address is to become that of a person at ${publicUrl}.`,
      '',
      `Token: ${token}`,
      '',
      ...(webPage ? [`To confirm it, sign in and enter the token as code at ${publicUrl}/settings`, ''] : []),
      `${webPage ? 'Without a browser' : 'To confirm it'}, log in there and send the token as "token" to`,
      `POST ${publicUrl}/api/v2/person:confirm-email`,
      'It can be used once, within 24 hours.',
      'If you do not expect this mail, do nothing.',
      '',
    ].join('\n'),
  };
}

export function addressChangedMail(to: string, { publicUrl }: Pick<MailOrigin, 'publicUrl'>): Mail {
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

export function invitationMail(
  invitation: InvitationRow,
  { inviter, publicUrl, webPage }: MailOrigin & { inviter: string },
): Mail {
  const { email, name, account, secure_id, expires_at, bound } = invitation;
  return {
    to: email,
    subject: `Invitation to administer ${account}`,
    text: [
      `Hello ${name},`,
      '',
      `${inviter} invites you to become an administrator of ${account}.`,
      '',
      `Invitation: ${secure_id}`,
      `Server: ${publicUrl}`,
      '',
      ...(webPage ? [`To accept it, open ${publicUrl}/invitations/${secure_id}`, ''] : []),
      `${webPage ? 'Without a browser, log' : 'Log'} in there (POST ${publicUrl}/api/v2/login) with your email address, a password and this invitation as`,
      '"invitation_id". A person without a login gets one, with the password given then.',
      '',
      `The invitation can be used once, until ${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
      bound ? `It is for ${email} alone.` : 'Whoever has it can use it: do not pass it on.',
      '',
    ].join('\n'),
  };
}
