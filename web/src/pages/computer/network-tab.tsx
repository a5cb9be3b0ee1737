import { EmptyState } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { PlainTable } from './plain-table.tsx';
import type { ComputerDetail } from './use-computer.ts';

/** The network devices of a computer. */
export function NetworkTab({ computer: { network_devices: devices = [] } }: { computer: ComputerDetail }) {
  if (devices.length === 0) {
    return <EmptyState title="No network devices were reported">They come with the computer's next report.</EmptyState>;
  }
  return (
    <PlainTable
      label="Network devices"
      head={['Device', 'State', 'IP address', 'Netmask', 'Broadcast address', 'MAC address', 'Speed']}
      rows={devices.map((device) => ({
        key: `${device.interface} ${device.ip_address}`,
        cells: [
          device.interface,
          device.active ? (
            <StateMark key="state" tone="good">
              Active
            </StateMark>
          ) : (
            <StateMark key="state" tone="idle">
              Inactive
            </StateMark>
          ),
          device.ip_address === '0.0.0.0' ? null : device.ip_address,
          device.netmask,
          device.broadcast_address,
          device.mac_address,
          device.speed ? `${device.speed} Mbit/s${device.duplex ? ', full duplex' : ''}` : null,
        ],
      }))}
    />
  );
}
