import type { CredentialView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.wire.ts';

const PATH = '/api/v2';

export function toCredentialResponse(credential: CredentialView, publicUrl: string) {
  const { key, secretKey, accountName, accountTitle } = credential;
  const accessKey = key?.accessKey ?? null;
  const endpoint = `${publicUrl}${PATH}`;
  return {
    access_key: accessKey,
    secret_key: secretKey,
    account_name: accountName,
    account_title: accountTitle,
    endpoint,
    name: key?.name ?? null,
    creation_time: formatTime(key?.creationTime ?? null),
    expires_at: formatTime(key?.expiresAt ?? null),
    last_used_at: formatTime(key?.lastUsedAt ?? null),
    exports: accessKey === null || secretKey === null ? null : exportsOf(endpoint, accessKey, secretKey),
  };
}

/** The values contain no quotes: the URL is the operator's, the keys are letters and digits. */
function exportsOf(endpoint: string, accessKey: string, secretKey: string): string {
  const values = { FLOTILLA_API_URI: endpoint, FLOTILLA_API_KEY: accessKey, FLOTILLA_API_SECRET: secretKey };
  return Object.entries(values)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
