import { ActionIcon, Button, Kbd, Text } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { shell as say } from '../strings/shell.ts'
import { modifier, useHotKeys } from './hot-keys.ts'

const Palette = lazy(() => import('./palette/palette.tsx').then(({ Palette }) => ({ default: Palette })))
const Shortcuts = lazy(() => import('./palette/shortcuts.tsx').then(({ Shortcuts }) => ({ default: Shortcuts })))

/** Opens the search over everything, by a click or by its keys, and answers the other keys that work on every page. */
export function Jump() {
  const [opened, setOpened] = useState<'palette' | 'shortcuts'>()
  useHotKeys({ palette: () => setOpened('palette'), shortcuts: () => setOpened('shortcuts') })
  const close = () => setOpened(undefined)
  return (
    <>
      <Button
        visibleFrom="md"
        variant="default"
        w={280}
        justify="flex-start"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<Kbd size="xs" aria-hidden>{`${modifier} K`}</Kbd>}
        styles={{ label: { flex: 1, justifyContent: 'flex-start' } }}
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpened('palette')}
      >
        <Text span size="sm" c="dimmed">
          {say.jump}
        </Text>
      </Button>
      <ActionIcon
        hiddenFrom="md"
        variant="subtle"
        color="gray"
        size="lg"
        aria-haspopup="dialog"
        aria-label={say.jump}
        onClick={() => setOpened('palette')}
      >
        <IconSearch size={20} aria-hidden />
      </ActionIcon>
      <Suspense fallback={null}>
        {opened === 'palette' && <Palette onClose={close} onShortcuts={() => setOpened('shortcuts')} />}
        {opened === 'shortcuts' && <Shortcuts onClose={close} />}
      </Suspense>
    </>
  )
}
