import { Menu, MenuChoice } from '../../ui/menu.tsx';

const OPTIONS = [
  { value: 'active', label: 'Active computers' },
  { value: 'archived', label: 'Archived computers' },
  { value: 'all', label: 'Active and archived' },
] as const;
type Status = (typeof OPTIONS)[number]['value'];

/** The status in a URL; active computers unless it names another one. */
export function statusOf(text: string): Status {
  return OPTIONS.find(({ value }) => value === text)?.value ?? 'active';
}

/** Chooses between active and archived computers. */
export function StatusFilter({ status, onChange }: { status: Status; onChange: (status: Status | undefined) => void }) {
  return (
    <Menu label={OPTIONS.find(({ value }) => value === status)!.label}>
      <MenuChoice<Status>
        value={status}
        options={OPTIONS}
        onChange={(chosen) => onChange(chosen === 'active' ? undefined : chosen)}
      />
    </Menu>
  );
}
