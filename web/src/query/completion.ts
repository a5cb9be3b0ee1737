/** What can complete the term at the caret; `text` is the whole query afterwards. */
export interface Suggestion {
  text: string;
  label: string;
  hint: string;
}

/** A value of a selector, with what explains it. */
export interface SelectorValue {
  value: string;
  hint: string;
}

/** The selectors of queries for computers, with what each finds. */
export const SELECTORS: Readonly<Record<string, string>> = {
  tag: 'has the tag',
  alert: 'has the active alert',
  'access-group': 'is in the access group',
  'access-group-recursive': 'is in the access group or one below it',
  search: 'is found by a saved search',
  needs: 'needs a restart or a license',
  profile: 'is associated with the profile',
  distribution: 'runs the release, such as 24.04 or noble',
  title: 'has exactly this title',
  hostname: 'has exactly this hostname',
  ip: 'has a part of the IP address',
  mac: 'has a part of the MAC address',
  annotation: 'has the annotation, as key or key:text',
  id: 'has the id',
  'release-upgrade': 'can be upgraded to a newer release',
  has: 'is associated with an upgrade profile',
  'has-pro-management': 'is attached to Ubuntu Pro',
  'license-type': 'has the type of license',
  'license-id': 'has the license',
  'license-expires-within-days': 'has a license that expires soon',
  contract: 'has the contract',
  'contract-expires-within-days': 'has a contract that expires soon',
  'instance-id': 'is the cloud instance',
  'instance-type': 'has the type of cloud instance',
  'ami-id': 'was made from the cloud image',
  'availability-zone': 'is in the availability zone of a cloud',
};

/** Values of selectors that are the same everywhere. */
export const FIXED_VALUES: Readonly<Record<string, readonly SelectorValue[]>> = {
  alert: [
    { value: 'computer-offline', hint: 'has lost contact' },
    { value: 'computer-reboot', hint: 'needs a restart' },
    { value: 'security-upgrades', hint: 'has security upgrades' },
    { value: 'package-upgrades', hint: 'has package upgrades' },
    { value: 'package-profiles', hint: 'does not comply with package profiles' },
    { value: 'package-reporter', hint: 'cannot report its packages' },
    { value: 'esm-disabled', hint: 'lacks expanded security maintenance' },
    { value: 'computer-duplicates', hint: 'may be registered twice' },
    { value: 'unapproved-activities', hint: 'has activities to approve' },
    { value: 'child-instance-profiles', hint: 'has WSL instances that do not comply' },
  ],
  needs: [
    { value: 'reboot', hint: 'needs a restart' },
    { value: 'license', hint: 'has no license' },
  ],
  'release-upgrade': [{ value: 'available', hint: '' }],
  has: [{ value: 'upgrade-profile', hint: '' }],
  'has-pro-management': [
    { value: 'true', hint: 'attached' },
    { value: 'false', hint: 'not attached' },
  ],
  'license-type': ['unlicensed', 'pro', 'free_pro', 'legacy'].map((value) => ({ value, hint: '' })),
};

const MAX_SUGGESTIONS = 50;

/** The term at the caret: where it begins and ends, and the part before the caret. */
export interface TermAtCaret {
  start: number;
  end: number;
  typed: string;
  /** Null outside of a value. */
  selector: string | null;
}

/** Finds the term at the caret; terms end at spaces outside double quotes. */
export function termAt(text: string, caret: number): TermAtCaret {
  let start = 0;
  let isQuoted = false;
  let end = text.length;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '"') isQuoted = !isQuoted;
    if (isQuoted || !/\s/.test(text[index]!)) continue;
    if (index >= caret) {
      end = index;
      break;
    }
    start = index + 1;
  }
  const typed = text.slice(start, caret);
  const colon = typed.indexOf(':');
  const name = colon < 0 ? '' : typed.slice(0, colon);
  return { start, end, typed, selector: name in SELECTORS ? name : null };
}

/** What can stand at the caret: selectors, or values of the selector that is there. */
export function suggest(text: string, caret: number, values: readonly SelectorValue[]): Suggestion[] {
  const term = termAt(text, caret);
  const { selector, typed } = term;
  if (selector !== null) {
    const part = typed
      .slice(selector.length + 1)
      .replaceAll('"', '')
      .toLowerCase();
    return values
      .filter(({ value, hint }) => value !== part && `${value} ${hint}`.toLowerCase().includes(part))
      .slice(0, MAX_SUGGESTIONS)
      .map(({ value, hint }) => ({ text: completed(text, term, `${selector}:${quoted(value)} `), label: value, hint }));
  }
  if (typed.includes('"') || typed.includes(':')) return [];
  return Object.entries(SELECTORS)
    .filter(([name]) => name.startsWith(typed.toLowerCase()))
    .map(([name, hint]) => ({ text: completed(text, term, `${name}:`), label: `${name}:`, hint }));
}

/** Whether the end of a query is still being typed, so that an error would only disturb. */
export function isUnfinished(text: string): boolean {
  return /(^|\s)(AND|OR|NOT|[a-z-]+:)\s*$/.test(text) || (text.match(/"/g)?.length ?? 0) % 2 === 1;
}

function completed(text: string, { start, end }: TermAtCaret, term: string): string {
  return text.slice(0, start) + term + text.slice(end).trimStart();
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : value;
}
