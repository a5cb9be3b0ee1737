/** Text of the mail that brings an invitation. */
export function invitationMail(invitation: {
  email: string;
  name: string;
  account: string;
  inviter: string;
  secureId: string;
  publicUrl: string;
}): { to: string; subject: string; text: string } {
  const { email, name, account, inviter, secureId, publicUrl } = invitation;
  return {
    to: email,
    subject: `Invitation to administer ${account}`,
    text: [
      `Hello ${name},`,
      '',
      `${inviter} invites you to become an administrator of ${account}.`,
      '',
      `Invitation: ${secureId}`,
      `Server: ${publicUrl}`,
      '',
      `Log in there (POST ${publicUrl}/api/v2/login) with your email address, a password and this invitation as`,
      '"invitation_id". Somebody without a login yet gets one, with the password given then.',
      '',
      'The invitation can be used once. Whoever has it can use it: do not pass it on.',
      '',
    ].join('\n'),
  };
}
