import type { AccountsService } from '../../services/identity/accounts.service.ts';
import type { LoginResult } from '../../services/identity/login/sessions.ts';
import type { PeopleService } from '../../services/identity/people.service.ts';
import { formatTime } from '../common/time.ts';
import type { Schemas } from '../http/handler.ts';

export function toLoginResponse({ token, ...session }: LoginResult): Schemas['LoginResponse'] {
  return { token, ...toCookieSession(session) };
}

/** Without the token, which the browser has in a cookie that scripts cannot read. */
export function toCookieSession(session: Omit<LoginResult, 'token'>): Schemas['CookieSession'] {
  const { email, name, accounts, currentAccount } = session;
  return { email, name, accounts, current_account: currentAccount };
}

type Account = Awaited<ReturnType<AccountsService['createOwn']>>;

export function toAccountResponse(account: Account): Schemas['Account'] {
  return {
    account: account.name,
    creation_time: formatTime(account.creation_time),
    administrators: account.administrators.map(({ name, email }) => ({ name, email, openid: null })),
    disabled: account.disabled,
    disabled_reason: account.disabled_reason,
    computers: account.computers,
    company: account.title,
    last_login_time: formatTime(account.last_login_time),
    licenses: [],
    salesforce_account_key: account.salesforce_account_key,
    enabled_features: [],
    subdomain: account.subdomain,
  };
}

type Person = Awaited<ReturnType<PeopleService['getSelf']>>;

export function toPersonResponse(person: Person): Schemas['Person'] {
  return {
    name: person.name,
    email: person.email,
    allowable_emails: person.allowable_emails,
    identity: person.identity,
    timezone: person.timezone,
    last_login_time: formatTime(person.last_login_time),
    last_login_host: person.last_login_host,
    preferred_account: person.preferred_account,
    pending_email: person.pending_email,
  };
}
