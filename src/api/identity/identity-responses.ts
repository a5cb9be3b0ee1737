import type { AccountView, LoginResultView, PersonView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';

export function toLoginResponse({ currentAccount, ...rest }: LoginResultView) {
  return { ...rest, current_account: currentAccount };
}

export function toAccountResponse(account: AccountView) {
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

export function toPersonResponse(person: PersonView) {
  return { ...person, last_login_time: formatTime(person.last_login_time) };
}
