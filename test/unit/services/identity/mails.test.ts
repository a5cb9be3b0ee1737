import { describe, expect, it } from 'vitest';
import { confirmationMail, invitationMail } from '../../../../src/services/identity/mails.ts';

const publicUrl = 'https://fleet.example';
const INVITATION = {
  id: 1,
  secure_id: 'secret',
  account: 'Fleet',
  account_id: 1,
  name: 'Ada',
  email: 'ada@fleet.example',
  bound: true,
  creation_time: new Date(0),
  expires_at: new Date(0),
  roles: [],
};

describe('mails', () => {
  it.each([
    [true, [`${publicUrl}/settings`, `${publicUrl}/invitations/secret`]],
    [false, []],
  ])('lead to the web page where there is one: %s', (webPage, links) => {
    const texts = [
      confirmationMail('ada@fleet.example', 'token', { publicUrl, webPage }).text,
      invitationMail(INVITATION, { publicUrl, webPage, inviter: 'Grace' }).text,
    ];
    expect(texts.flatMap((text) => text.match(/https:\/\/[^/\s]+\/(?!api\/)\S+/g) ?? [])).toEqual(links);
    expect(texts.every((text) => text.includes(`POST ${publicUrl}/api/v2/`))).toBe(true);
  });
});
