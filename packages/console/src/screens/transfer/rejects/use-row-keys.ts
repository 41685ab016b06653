import { useEffect, useRef } from 'react'
import { takesLetters } from '../../../shell/hot-keys.ts'

/**
 * The keys of rejected rows: J and K go to the next and to the previous row, C corrects the row with the focus, or the first one.
 * Enter opens a row, because a row with the focus is a button. The button has the number of its row in `data-reject-row`.
 */
export function useRowKeys(onCorrect: (number: number) => void): void {
  const latest = useRef(onCorrect)
  latest.current = onCorrect
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
      if (takesLetters(event.target)) return
      const rows = [...document.querySelectorAll<HTMLElement>('[data-reject-row]')]
      const at = rows.findIndex((row) => row.closest('tr')?.contains(document.activeElement))
      const step = { j: 1, k: -1 }[event.key.toLowerCase()]
      if (step !== undefined) {
        const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
        if (!next) return
        event.preventDefault()
        next.focus()
        next.scrollIntoView({ block: 'nearest' })
      } else if (event.key.toLowerCase() === 'c') {
        const number = rows[Math.max(0, at)]?.dataset.rejectRow
        if (number === undefined) return
        event.preventDefault()
        latest.current(Number(number))
      }
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
