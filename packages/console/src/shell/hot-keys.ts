import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { pathOf, useAccountId } from './account.ts'

/** The key that platforms expect beside a letter, as it is written on the keyboard. */
export const modifier = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** Pages that are opened by `g` and a letter. */
const jumps = { o: '', c: 'connections', a: 'alerts', r: 'reports' } as const
/** How long the second key may take, in milliseconds. */
const secondKeyMs = 1_500

const isLetterOf = (jump: string): jump is keyof typeof jumps => jump in jumps

/** Whether a letter that is typed there is text, or something above the page takes the keys. */
export const takesLetters = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, [role="dialog"], [role="listbox"]') !== null)

/**
 * The keys that work on every page: Ctrl K opens the search over everything, `/` leads to the search of the page, `?` shows the
 * keys, `g` and a letter open a page. Letters are left to text fields and dialogs.
 */
export function useHotKeys(open: { readonly palette: () => void; readonly shortcuts: () => void }): void {
  const accountId = useAccountId()
  const navigate = useNavigate()
  const latest = useRef({ open, accountId, navigate })
  latest.current = { open, accountId, navigate }
  useEffect(() => {
    let jumpUntil = 0
    const press = (event: KeyboardEvent) => {
      const { open, accountId, navigate } = latest.current
      if (event.defaultPrevented || event.isComposing) return
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return open.palette()
      }
      if (event.ctrlKey || event.metaKey || event.altKey || takesLetters(event.target)) return
      const isSecond = event.timeStamp < jumpUntil
      jumpUntil = 0
      if (isSecond && isLetterOf(event.key)) {
        // The letter may be a key of the page, too.
        event.preventDefault()
        return void navigate(pathOf(accountId, jumps[event.key]))
      }
      if (event.key === 'g') jumpUntil = event.timeStamp + secondKeyMs
      else if (event.key === '?') open.shortcuts()
      else if (event.key === '/') {
        event.preventDefault()
        const search = document.querySelector<HTMLInputElement>('#content input[type="search"]')
        if (search) search.focus()
        else open.palette()
      }
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
