import type { InvitationRow } from '../../persistence/identity/invitations.repository.ts';
import type { Mail } from '../common/ports.ts';

/** Text of the mail that brings an invitation. */
export function invitationMail(
  invitation: InvitationRow,
  { inviter, publicUrl }: { inviter: string; publicUrl: string },
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
      `Log in there (POST ${publicUrl}/api/v2/login) with your email address, a password and this invitation as`,
      '"invitation_id". Somebody without a login yet gets one, with the password given then.',
      '',
      `The invitation can be used once, until ${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
      bound ? `It is for ${email} alone.` : 'Whoever has it can use it: do not pass it on.',
      '',
    ].join('\n'),
  };
}
