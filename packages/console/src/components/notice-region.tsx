import { Button, CloseButton, Paper, Portal, Text } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { components } from '../strings/components.ts'
import classes from './notice-region.module.css'
import { closeNotice, type Notice, noticeStore } from './notices.ts'

const icons = { done: IconCircleCheck, problem: IconAlertTriangle, failure: IconAlertCircle } as const

/**
 * Shows the notices at the lower right, beside the navigation, or in a strip at the lower edge of a narrow window. Dialogs end
 * above them. The page is scrolled if a notice would cover its controls. Screen readers announce a notice when they are idle.
 */
export function NoticeRegion() {
  const notices = useSyncExternalStore(noticeStore.subscribe, noticeStore.read)
  const region = useRef<HTMLElement>(null)
  const [pointed, setPointed] = useState(false)
  const [focused, setFocused] = useState(false)
  /** The element that had the focus before the region. */
  const before = useRef<Element>(null)
  useReservedHeight(region, notices)
  // A button that leaves with its notice loses the focus without an event.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows from the notices.
  useEffect(() => {
    if (!region.current?.contains(document.activeElement)) setFocused(false)
    if (!region.current?.querySelector(':hover')) setPointed(false)
  }, [notices])
  const close = (id: number) => {
    const hadFocus = region.current?.contains(document.activeElement) ?? false
    closeNotice(id)
    if (hadFocus && before.current instanceof HTMLElement) before.current.focus()
  }
  return (
    <Portal>
      <section
        ref={region}
        className={classes.region}
        aria-label={components.notices}
        aria-live="polite"
        aria-relevant="additions"
        // A notice that appears under a pointer at rest does not wait: it would stay until the pointer moves.
        onPointerMove={({ movementX, movementY }) => {
          if (movementX !== 0 || movementY !== 0) setPointed(true)
        }}
        onPointerLeave={() => setPointed(false)}
        onFocus={({ relatedTarget }) => {
          if (!focused) before.current = relatedTarget
          setFocused(true)
        }}
        onBlur={({ relatedTarget, currentTarget }) => {
          if (!currentTarget.contains(relatedTarget)) setFocused(false)
        }}
      >
        {notices.map((notice) => (
          <Shown key={notice.id} notice={notice} waits={pointed || focused} onClose={() => close(notice.id)} />
        ))}
      </section>
    </Portal>
  )
}

function Shown({ notice, waits, onClose }: { notice: Notice; waits: boolean; onClose: () => void }) {
  const { kind, title, message, next, closesAfterMs } = notice
  const Icon = icons[kind]
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    if (closesAfterMs === undefined || waits) return
    const timer = setTimeout(() => close.current(), closesAfterMs)
    return () => clearTimeout(timer)
  }, [closesAfterMs, waits])
  return (
    <Paper withBorder className={classes.notice} data-notice={kind}>
      <Icon size={20} aria-hidden className={classes.icon} />
      <div className={classes.text}>
        {title !== undefined && (
          <Text size="sm" fw={600}>
            {title}
          </Text>
        )}
        <Text size="sm" {...(title !== undefined && { c: 'dimmed' })}>
          {message}
        </Text>
        {next && (
          <Button
            size="compact-sm"
            variant="light"
            mt={4}
            onClick={() => {
              onClose()
              next.act()
            }}
          >
            {next.label}
          </Button>
        )}
      </div>
      <CloseButton size="sm" aria-label={components.close} onClick={onClose} />
    </Paper>
  )
}

const controls = 'a[href], button, input, select, textarea, [role="button"], [tabindex="0"]'

/** Says in a variable of the page how high the region is, and scrolls up controls that it would cover. */
function useReservedHeight(region: React.RefObject<HTMLElement | null>, notices: readonly Notice[]): void {
  const reserved = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows from the notices.
  useLayoutEffect(() => {
    const measure = () => {
      const height = Math.ceil(region.current?.getBoundingClientRect().height ?? 0)
      const grown = height - reserved.current
      if (grown === 0) return
      reserved.current = height
      document.documentElement.style.setProperty('--penstock-notices', `${height}px`)
      if (grown > 0 && coversControls(region.current)) window.scrollBy({ top: grown, behavior: 'instant' })
    }
    measure()
    window.addEventListener('resize', measure)
    return () => window.removeEventListener('resize', measure)
  }, [notices])
}

function coversControls(region: HTMLElement | null): boolean {
  const place = region?.getBoundingClientRect()
  if (!place) return false
  return [...document.querySelectorAll(`#content :is(${controls})`)].some((control) => {
    const box = control.getBoundingClientRect()
    return box.height > 0 && box.bottom > place.top && box.top < place.bottom && box.right > place.left
  })
}
