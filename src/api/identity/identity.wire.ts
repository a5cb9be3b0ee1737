import type { AccountView, LoginResultView, PersonView } from '../../services/setup/views.ts';
import { wireTime } from '../common/time.wire.ts';

export function wireLogin({ currentAccount, ...rest }: LoginResultView) {
  return { ...rest, current_account: currentAccount };
}

export function wireAccount(account: AccountView) {
  return {
    account: account.name,
    creation_time: wireTime(account.creation_time),
    administrators: account.administrators.map(({ name, email }) => ({ name, email, openid: null })),
    disabled: account.disabled,
    disabled_reason: account.disabled_reason,
    computers: account.computers,
    company: account.title,
    last_login_time: wireTime(account.last_login_time),
    licenses: [],
    salesforce_account_key: account.salesforce_account_key,
    enabled_features: [],
    subdomain: account.subdomain,
  };
}

export function wirePerson(person: PersonView) {
  return { ...person, last_login_time: wireTime(person.last_login_time) };
}
