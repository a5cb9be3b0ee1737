import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useCan } from '../session/session.ts';
import { Menu, MenuGroup, MenuItem } from '../ui/menu.tsx';
import { actionsFor, GROUPS } from './actions.ts';
import { showSelection } from './selection.ts';
import { searchOf, type Targets } from './targets.ts';

export type { Targets } from './targets.ts';

/** The menu button "Actions" of a selection, unless the person may do nothing with it: each opens its form, `/act/<action>?ids=...` or `?query=...`. */
export function ActionsMenu({ targets, count }: { targets: Targets; count: number }) {
  const can = useCan();
  const navigate = useNavigate();
  const actions = actionsFor(count, can);
  const key = JSON.stringify(searchOf(targets));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the targets, which are new objects each time
  useEffect(() => (count > 0 ? showSelection({ targets, count }) : undefined), [key, count]);
  const open = (action: string) => void navigate({ to: '/act/$action', params: { action }, search: searchOf(targets) });
  if (actions.length === 0) return null;
  return (
    <Menu label="Actions">
      {GROUPS.map((group) => {
        const some = actions.filter((action) => action.group === group);
        return some.length === 0 ? null : (
          <MenuGroup key={group} label={group}>
            {some.map(({ id, label }) => (
              <MenuItem key={id} onSelect={() => open(id)}>
                {label}
              </MenuItem>
            ))}
          </MenuGroup>
        );
      })}
    </Menu>
  );
}
