// Everything starts here, after all of the page is there.

document.documentElement.classList.add("scripted");
startTheme();
startContents();
startPrinting();
startFigures();
all("[data-finder]").forEach(startFinder);
startTipping();
startCells();
