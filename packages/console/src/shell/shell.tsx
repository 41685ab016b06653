import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  NavLink,
  Stack,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconApi,
  IconArrowsExchange,
  IconBuildingStore,
  IconChartBar,
  IconGauge,
  IconKey,
  IconLogout,
  IconMoon,
  IconPlug,
  IconSun,
  IconTrash,
  IconUsers,
} from '@tabler/icons-react'
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Link, useLocation } from 'react-router'
import { sessionStore, signOut } from '../api/session.ts'
import { addressOf } from '../base-path.ts'
import { shell as say } from '../strings/shell.ts'
import { pathOf, useAccountId } from './account.ts'
import { AccountSwitcher } from './account-switcher.tsx'
import { AsCurl } from './as-curl.tsx'

const organizationPages = [
  { page: '', label: say.overview, Icon: IconGauge },
  { page: 'accounts', label: say.accounts, Icon: IconUsers },
  { page: 'connections', label: say.connections, Icon: IconArrowsExchange },
  { page: 'reports', label: say.reports, Icon: IconChartBar },
  { page: 'deleted', label: say.deleted, Icon: IconTrash },
  { page: 'api-keys', label: say.apiKeys, Icon: IconKey },
]
const accountPages = [
  { page: '', label: say.overview, Icon: IconGauge },
  { page: 'connections', label: say.connections, Icon: IconArrowsExchange },
  { page: 'connectors', label: say.connectors, Icon: IconPlug },
  { page: 'catalogue', label: say.catalogue, Icon: IconBuildingStore },
  { page: 'reports', label: say.reports, Icon: IconChartBar },
  { page: 'deleted', label: say.deleted, Icon: IconTrash },
]

/** The frame around every screen: where one is, where one can go, and as which sub-account. */
export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure()
  const accountId = useAccountId()
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the navigation of small screens.
  useEffect(close, [pathname])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 248, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a className="skip" href="#content">
        {say.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? say.closeNavigation : say.openNavigation}
            />
            <Group
              component={Link as never}
              {...{ to: '/' }}
              gap="xs"
              wrap="nowrap"
              style={{ color: 'inherit', textDecoration: 'none' }}
            >
              <img src={addressOf('/docs/assets/icon.svg')} alt="" width={28} height={28} />
              <Text fw={700} size="lg" lts={-0.2}>
                {say.product}
              </Text>
            </Group>
          </Group>
          <Group gap={4} wrap="nowrap">
            <AsCurl />
            <ThemeSwitch />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={say.navigation} component="nav">
        <Stack gap={4} h="100%" justify="space-between">
          <Stack gap={4}>
            <AccountSwitcher onPick={close} />
            <Stack gap={2} mt="sm">
              {(accountId ? accountPages : organizationPages).map(({ page, label, Icon }) => {
                const to = pathOf(accountId, page)
                const here = page === '' ? pathname === to : pathname === to || pathname.startsWith(`${to}/`)
                return (
                  <NavLink
                    key={label}
                    component={Link}
                    to={to}
                    label={label}
                    active={here}
                    aria-current={here ? 'page' : undefined}
                    leftSection={<Icon size={18} aria-hidden />}
                    style={{ borderRadius: 'var(--mantine-radius-md)' }}
                  />
                )
              })}
            </Stack>
          </Stack>
          <NavLink
            component="a"
            href={addressOf('/docs')}
            label={say.api}
            leftSection={<IconApi size={18} aria-hidden />}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
          />
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: 'none' }}>
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark'
  const label = isDark ? say.light : say.dark
  const Icon = isDark ? IconSun : IconMoon
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        <Icon size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function SignOut() {
  const clientId = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  return (
    <Tooltip label={`${say.signOut} · ${say.signedInAs(clientId ?? '')}`}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={say.signOut} onClick={signOut}>
        <IconLogout size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
