import { NavLink, Stack, Text, UnstyledButton } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconApi, IconBook, IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ComponentType, type ReactNode, useId } from 'react'
import { Link, useLocation } from 'react-router'
import { addressOf } from '../base-path.ts'
import { shell as say } from '../strings/shell.ts'
import { pathOf } from './account.ts'
import { type GroupName, useGroups } from './pages.ts'

type Icon = ComponentType<{ size: number; 'aria-hidden': true }>

/** The entries of the navigation in groups. A user can close a group; it stays closed in this browser. */
export function Navigation({ accountId }: { accountId: string | undefined }) {
  const groups = useGroups(accountId)
  const isShown = groups.some(({ name }) => name === 'developers')
  return (
    <Stack gap={2} mt="sm">
      {groups.map(({ name, accountId: of, entries }) => (
        <Section key={name} name={name}>
          {entries.map(({ page, ...entry }) => (
            <Entry key={page} to={pathOf(of, page)} isAlone={page === '' || page === 'accounts'} {...entry} />
          ))}
          {name === 'developers' && <Documents />}
        </Section>
      ))}
      {!isShown && (
        <Section name="developers">
          <Documents />
        </Section>
      )}
    </Stack>
  )
}

function Section({ name, children }: { name: GroupName; children: ReactNode }) {
  const id = useId()
  const [closed, setClosed] = useLocalStorage<readonly GroupName[]>({
    key: 'penstock-navigation',
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  if (name === 'overview') return children
  const isOpen = !closed.includes(name)
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  return (
    <>
      <UnstyledButton
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setClosed(isOpen ? [...closed, name] : closed.filter((one) => one !== name))}
        mt={6}
        px="sm"
        py={4}
        style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center' }}
      >
        <Text span size="xs" fw={600} c="dimmed">
          {say.groups[name]}
        </Text>
        <Chevron size={14} aria-hidden />
      </UnstyledButton>
      <Stack id={id} gap={2} hidden={!isOpen} display={isOpen ? undefined : 'none'}>
        {children}
      </Stack>
    </>
  )
}

/** The documents of the service, which are pages outside of the console. */
function Documents() {
  return (
    <>
      <Outside address="/docs/guides" label={say.guides} Icon={IconBook} />
      <Outside address="/docs" label={say.api} Icon={IconApi} />
    </>
  )
}

const looks = { py: 5, style: { borderRadius: 'var(--mantine-radius-md)' } } as const

function Outside({ address, label, Icon }: { address: string; label: string; Icon: Icon }) {
  return (
    <NavLink
      component="a"
      href={addressOf(address)}
      label={label}
      leftSection={<Icon size={18} aria-hidden />}
      {...looks}
    />
  )
}

/** An entry of the navigation. @param isAlone the addresses that begin with its own belong to other entries */
function Entry({ to, label, Icon, isAlone }: { to: string; label: string; Icon: Icon; isAlone: boolean }) {
  const { pathname } = useLocation()
  const isHere = pathname === to || (!isAlone && pathname.startsWith(`${to}/`))
  return (
    <NavLink
      component={Link}
      to={to}
      label={label}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      leftSection={<Icon size={18} aria-hidden />}
      {...looks}
    />
  )
}
