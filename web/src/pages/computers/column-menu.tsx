import { Menu, MenuCheck, MenuItem } from '../../ui/menu.tsx';
import { COLUMNS } from './columns.tsx';
import type { useColumns } from './use-columns.ts';

/** Chooses which columns the list shows. */
export function ColumnMenu({ shown, show, reset }: ReturnType<typeof useColumns>) {
  return (
    <Menu label="Columns">
      {COLUMNS.filter(({ id }) => id !== 'title').map(({ id, header }) => (
        <MenuCheck key={id} checked={shown.includes(id)} onChange={(isShown) => show(id, isShown)}>
          {header}
        </MenuCheck>
      ))}
      <MenuItem onSelect={reset}>Usual columns</MenuItem>
    </Menu>
  );
}
