/** Pages by the key that follows `g`. */
export const SHORTCUTS = [
  { key: 'o', to: '/', label: 'Overview' },
  { key: 'c', to: '/computers', label: 'Computers' },
  { key: 'm', to: '/computers/map', label: 'Map' },
  { key: 'a', to: '/activities', label: 'Activities' },
  { key: 'p', to: '/profiles', label: 'Profiles' },
  { key: 's', to: '/scripts', label: 'Scripts' },
  { key: 'l', to: '/alerts', label: 'Alerts' },
  { key: 'e', to: '/events', label: 'Events' },
  { key: 'u', to: '/people', label: 'People' },
  { key: 't', to: '/settings', label: 'Settings' },
] as const;

/** Text fields, and what has keys of its own. */
const OWN_KEYS =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable], [role="dialog"], [role="menu"]';

/** Whether keys belong to what has the focus: a field, or a dialog or menu that is open. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(OWN_KEYS) !== null;
}
