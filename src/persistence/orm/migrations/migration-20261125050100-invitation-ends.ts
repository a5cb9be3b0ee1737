import { Migration } from '@mikro-orm/migrations';

/** Invitations expire, may be for one address alone, and are limited for each address. */
export class Migration20261125050100InvitationEnds extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // Open ones, and those that processes of the build before still make, get the time that is usual.
  `alter table invitation add column expires_at timestamptz not null default now() + interval '14 days',
    add column bound boolean not null default false`,
  `create table invitation_mail (
    account_id int not null references account on delete cascade,
    address text not null,
    at timestamptz not null)`,
  'create index invitation_mail_address on invitation_mail (account_id, address, at)',
];
