import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconLogout, IconMoon, IconSun, IconUserCircle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, Navigate, useLocation } from 'react-router'
import { useMe, useOnlyAccountId } from '../api/me.ts'
import { signOut } from '../api/session.ts'
import { addressOf } from '../base-path.ts'
import { notifyFailure } from '../components/notify.ts'
import { shell as say } from '../strings/shell.ts'
import { pathOf, useNavigationAccountId } from './account.ts'
import { AccountSwitcher } from './account-switcher.tsx'
import { AsCurl } from './as-curl.tsx'
import { Jump } from './jump.tsx'
import { Navigation } from './navigation.tsx'
import { isOfAllAccounts, sharedPages } from './pages.ts'

/** The frame around every screen: if one is, if one can go, and as which sub-account. */
export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure()
  const accountId = useNavigationAccountId()
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the navigation of small screens.
  useEffect(close, [pathname])
  const onlyAccountId = useOnlyAccountId()
  if (onlyAccountId && isOfAllAccounts(pathname)) return <Navigate to={onlyPathOf(onlyAccountId, pathname)} replace />
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
              renderRoot={(props) => <Link {...props} to="/" />}
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
            <Jump />
            <AsCurl />
            <ThemeSwitch />
            <Profile />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="sm"
        aria-label={say.navigation}
        component="nav"
        style={{ overflowY: 'auto' }}
        data-closed={!opened || undefined}
      >
        <AccountSwitcher accountId={accountId} onPick={close} />
        <Navigation accountId={accountId} />
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

/** Leads to the page of the person who is signed in. */
function Profile() {
  const me = useMe()
  if (me?.kind !== 'user') return null
  return (
    <Tooltip label={`${say.profile} · ${me.name ?? me.email}`}>
      <ActionIcon component={Link} to="/profile" variant="subtle" color="gray" size="lg" aria-label={say.profile}>
        <IconUserCircle size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function SignOut() {
  const me = useMe()
  const [busy, setBusy] = useState(false)
  const leave = () => {
    setBusy(true)
    signOut().catch((error: unknown) => {
      notifyFailure(error)
      setBusy(false)
    })
  }
  const name = me?.email ?? me?.name ?? me?.id
  return (
    <Tooltip label={name ? `${say.signOut} · ${say.signedInAs(name)}` : say.signOut}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={say.signOut} loading={busy} onClick={leave}>
        <IconLogout size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

/** The same kind of page of the only sub-account that there is to see. */
function onlyPathOf(accountId: string, pathname: string): string {
  const page = pathname.split('/')[1] ?? ''
  return pathOf(accountId, sharedPages.includes(page) || page === 'start' ? page : '')
}
