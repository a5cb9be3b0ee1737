import type { ReleaseName } from './releases.ts';

/** Source of the newest version of a package. */
export type Pocket = 'release' | 'updates' | 'security';

/** Which machines have a package. */
export type Audience = 'all' | 'server' | 'desktop' | 'optional';

export interface TableRow {
  name: string;
  section: string;
  summary: string;
  audience: Audience;
  newest: Pocket;
  /** Version at release by release name. */
  versions: Readonly<Record<ReleaseName, string>>;
  requires: readonly string[];
}

/** Name, section, audience, newest pocket, versions in the order of the releases, summary, required packages. */
const TABLE = `
libc6 | libs | all | security | 2.35-0ubuntu3 2.39-0ubuntu8 2.42-0ubuntu3 2.43-2ubuntu1 | C library |
bash | shells | all | release | 5.1-6ubuntu1 5.2.21-2ubuntu4 5.2.37-2ubuntu5 5.3-2ubuntu1 | Shell | libc6
coreutils | utils | all | release | 8.32-4.1ubuntu1 9.4-3ubuntu6 9.5-1ubuntu2 9.7-3ubuntu1 | Basic file, shell and text tools | libc6
dpkg | admin | all | release | 1.21.1ubuntu2 1.22.6ubuntu6 1.22.21ubuntu3 1.23.3ubuntu1 | Package management system | libc6
apt | admin | all | updates | 2.4.5 2.7.14build2 3.1.6ubuntu2 3.1.15ubuntu1 | Package manager for the command line | libc6
systemd | admin | all | updates | 249.11-0ubuntu3 255.4-1ubuntu8 257.9-0ubuntu2 259-1ubuntu3 | System and service manager | libc6
udev | admin | all | updates | 249.11-0ubuntu3 255.4-1ubuntu8 257.9-0ubuntu2 259-1ubuntu3 | Device manager | libc6
openssl | utils | all | security | 3.0.2-0ubuntu1 3.0.13-0ubuntu3 3.5.3-1ubuntu2 3.5.5-1ubuntu1 | TLS toolkit | libc6
libssl3 | libs | all | security | 3.0.2-0ubuntu1 3.0.13-0ubuntu3 3.5.3-1ubuntu2 3.5.5-1ubuntu1 | TLS library | libc6
ca-certificates | misc | all | release | 20211016 20240203 20250419 20251101 | Common CA certificates | openssl
openssh-client | net | all | security | 1:8.9p1-3 1:9.6p1-3ubuntu13 1:10.0p1-5ubuntu5 1:10.2p1-2ubuntu1 | Secure shell client | libssl3
openssh-server | net | server | security | 1:8.9p1-3 1:9.6p1-3ubuntu13 1:10.0p1-5ubuntu5 1:10.2p1-2ubuntu1 | Secure shell server | openssh-client
sudo | admin | all | security | 1.9.9-1ubuntu2 1.9.15p5-3ubuntu5 1.9.17p2-1ubuntu1 1.9.17p2-4ubuntu1 | Limited privileges for users | libc6
curl | web | all | security | 7.81.0-1ubuntu1 8.5.0-2ubuntu10 8.14.1-2ubuntu1 8.18.0-1ubuntu1 | Transfers data by URL | libssl3
python3 | python | all | release | 3.10.4-0ubuntu2 3.12.3-0ubuntu1 3.13.7-1 3.14.2-1 | Interactive high-level language | libc6
snapd | devel | all | updates | 2.55.3+22.04 2.62+24.04 2.72+ubuntu25.10 2.74+ubuntu26.04 | Daemon and tooling for snaps | systemd
landscape-client | admin | all | updates | 19.12-0ubuntu13 24.02-0ubuntu5 25.08-0ubuntu1 26.02-0ubuntu2 | Fleet management agent | python3
ubuntu-pro-client | admin | all | updates | 27.8 31.2.3 36ubuntu0 37.1ubuntu0 | Tools for the Pro subscription | python3
unattended-upgrades | admin | all | release | 2.8ubuntu1 2.9.1+nmu4ubuntu1 2.12ubuntu3 2.12ubuntu5 | Installs security upgrades by itself | python3
rsyslog | admin | all | release | 8.2112.0-2ubuntu2 8.2312.0-3ubuntu9 8.2506.0-1ubuntu2 8.2512.0-1ubuntu1 | System and kernel log daemon | libc6
cron | admin | all | release | 3.0pl1-137ubuntu3 3.0pl1-184ubuntu2 3.0pl1-197ubuntu1 3.0pl1-201ubuntu1 | Runs jobs at set times | libc6
vim | editors | optional | security | 2:8.2.3995-1ubuntu2 2:9.1.0016-1ubuntu7 2:9.1.0967-1ubuntu6 2:9.1.1829-1ubuntu1 | Enhanced vi editor | libc6
git | vcs | optional | security | 1:2.34.1-1ubuntu1 1:2.43.0-1ubuntu7 1:2.51.0-1ubuntu1 1:2.53.0-1ubuntu1 | Distributed revision control | curl
htop | utils | optional | release | 3.0.5-7build2 3.3.0-4build1 3.4.1-5 3.4.1-7 | Interactive process viewer | libc6
tmux | admin | optional | release | 3.2a-4build1 3.4-1build1 3.5a-3 3.6-2 | Terminal multiplexer | libc6
jq | utils | optional | security | 1.6-2.1ubuntu3 1.7.1-3build1 1.8.1-3ubuntu1 1.8.1-4 | JSON processor | libc6
nginx | httpd | server | security | 1.18.0-6ubuntu14 1.24.0-2ubuntu7 1.28.0-6ubuntu1 1.28.1-2ubuntu1 | Web and proxy server | libssl3
postgresql-common | database | server | release | 238 257build1 282ubuntu1 287 | Manages database clusters | libssl3
haproxy | net | server | security | 2.4.14-1ubuntu1 2.8.5-1ubuntu3 3.0.10-1ubuntu2 3.2.9-1ubuntu1 | Reliable load balancer | libssl3
chrony | admin | server | release | 4.2-2ubuntu2 4.5-1ubuntu4 4.7-1ubuntu1 4.8-2ubuntu1 | Keeps the clock right | libc6
ufw | admin | server | release | 0.36.1-4build1 0.36.2-6 0.36.2-9 0.36.2-9build1 | Manages the packet filter | python3
mdadm | admin | server | updates | 4.2-0ubuntu1 4.3-1ubuntu2 4.4-11ubuntu2 4.5-3ubuntu1 | Manages disk arrays | udev
auditd | admin | server | release | 1:3.0.7-1build1 1:3.1.2-2.1build1 1:4.0.5-1ubuntu2 1:4.1.2-1 | Audit daemon | libc6
prometheus-node-exporter | net | server | release | 1.3.1-1 1.7.0-1ubuntu0.3 1.9.1-1 1.10.2-1 | Exports machine metrics | libc6
gnome-shell | gnome | desktop | updates | 42.0-2ubuntu1 46.0-0ubuntu5 49.0-1ubuntu2 50.0-0ubuntu1 | Graphical shell of the desktop | systemd
gdm3 | gnome | desktop | updates | 42.0-1ubuntu6 46.0-2ubuntu1 49.0.1-0ubuntu1 50.0-0ubuntu1 | Display manager | systemd
network-manager | net | desktop | updates | 1.36.4-2ubuntu1 1.46.0-1ubuntu2 1.52.1-1ubuntu1 1.54.2-1ubuntu1 | Connects to networks | libc6
cups | net | desktop | security | 2.4.1op1-1ubuntu4 2.4.7-1.2ubuntu7 2.4.12-0ubuntu3 2.4.16-1ubuntu1 | Printing system | libssl3
pipewire | sound | desktop | release | 0.3.48-1ubuntu1 1.0.5-1 1.4.7-3ubuntu2 1.6.0-1ubuntu1 | Sound and video server | libc6
libreoffice-core | editors | desktop | security | 1:7.3.2-0ubuntu2 4:24.2.2-0ubuntu1 4:25.8.1-0ubuntu1 4:26.2.0-0ubuntu1 | Office suite | libc6
`;

/** The simulated archive without kernels. */
export const PACKAGE_TABLE: readonly TableRow[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [name, section, audience, newest, versions, summary, requires] = line.split('|').map((cell) => cell.trim());
    const [jammy, noble, questing, resolute] = versions!.split(' ') as [string, string, string, string];
    return {
      name: name!,
      section: section!,
      audience: audience as Audience,
      newest: newest as Pocket,
      versions: { jammy, noble, questing, resolute },
      summary: summary!,
      requires: requires ? requires.split(' ') : [],
    };
  });

/** Packages that cannot be removed. */
export const ESSENTIAL: ReadonlySet<string> = new Set(['libc6', 'bash', 'coreutils', 'dpkg', 'apt', 'systemd', 'udev']);
