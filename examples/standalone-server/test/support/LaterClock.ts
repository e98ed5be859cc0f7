/**
 * Loaded into a server before its own program: its clock is some minutes ahead, so that what is only so after a while is
 * so at once. Time passes as ever.
 */
const ahead = 5 * 60_000
const now = Date.now.bind(Date)
Date.now = () => now() + ahead
